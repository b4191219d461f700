/** What is asked of a client: `DynamoDBClient` of `@aws-sdk/client-dynamodb`, version 3. */
export interface DynamoClient {
  send(command: object, options?: { readonly abortSignal?: AbortSignal }): Promise<unknown>;
}
