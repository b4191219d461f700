export { type CheckpointData, type CheckpointToSave, SQLiteCheckpointStore } from "./checkpoint-store.ts";
export { openSqliteStore, type SqliteOptions } from "./open.ts";
