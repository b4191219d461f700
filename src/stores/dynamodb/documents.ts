import {
  checkedDocuments,
  DOCUMENT_LIMITS,
  type Documents,
  type DocumentWrite,
  type StoredDocument,
} from "../../core/store/documents.ts";
import { isNamed } from "./errors.ts";
import { Expression } from "./expression.ts";
import { documentKey, toItem } from "./keys.ts";
import { readItem, readRange } from "./reading.ts";
import type { Item, Service } from "./service.ts";

/** How the store runs its calls. `same` fails when the table is no longer the one that was opened. */
interface Access {
  readonly call: <T>(work: (service: Service) => Promise<T>) => Promise<T>;
  readonly same: (service: Service) => Promise<void>;
}

/** Sorts after every key that isn't it: a key has at most half as many of the last character. */
const LAST = "\u{10ffff}".repeat(DOCUMENT_LIMITS.key - 1);

/** The documents of a kind are the items of one partition, read consistently. */
export const documentsIn = ({ call, same }: Access): Documents =>
  checkedDocuments({
    read: (kind, key) =>
      call(async (service) => {
        const item = await readItem(service, documentKey(kind, key));
        return item ? toDocument(kind, item) : null;
      }),
    list: (kind, { after, limit }) =>
      call(async (service) => {
        const { pk } = documentKey(kind, "");
        // The range includes its first key, which is left out.
        const between = [after ?? " ", LAST] as const;
        const most = after === undefined ? limit : limit + 1;
        const found = await readRange(service, { pk, between, limit: most });
        const documents = found.map((item) => toDocument(kind, item));
        return documents.filter(({ key }) => key !== after).slice(0, limit);
      }),
    write: (batch) =>
      call(async (service) => {
        await same(service);
        const results: boolean[] = [];
        for (const one of batch) results.push(await apply(service, one));
        return results;
      }),
  });

async function apply(service: Service, { kind, key, expect, put }: DocumentWrite): Promise<boolean> {
  const place = documentKey(kind, key);
  if (expect === null && !put) return (await readItem(service, place)) === null;
  const expression = new Expression();
  const ConditionExpression =
    expect === null ? "attribute_not_exists(pk)" : expression.compare("version", "=", { S: expect });
  const condition = { ConditionExpression, ...(expect === null ? {} : expression.attributes) };
  try {
    if (put) {
      const Item = { ...toItem(place), version: { S: put.version }, value: { S: put.value } };
      await service.put({ Item, ...condition });
    } else await service.remove({ Key: toItem(place), ...condition });
    return true;
  } catch (error) {
    if (isNamed(error, "ConditionalCheckFailedException")) return isOwn(service, place, put?.version);
    throw error;
  }
}

/** The SDK repeats a call whose answer was lost; then the condition fails because of this very write. */
async function isOwn(
  service: Service,
  place: { readonly pk: string; readonly sk: string },
  version: string | undefined,
): Promise<boolean> {
  return version !== undefined && (await readItem(service, place))?.["version"]?.S === version;
}

const toDocument = (kind: string, item: Item): StoredDocument => ({
  kind,
  key: item["sk"]?.S ?? "",
  version: item["version"]?.S ?? "",
  value: item["value"]?.S ?? "",
});
