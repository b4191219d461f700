/** The part of `DynamoDBClient` (`@aws-sdk/client-dynamodb` version 3) that the store uses. */
export interface DynamoClient {
  send(command: object, options?: { readonly abortSignal?: AbortSignal }): Promise<unknown>;
}
