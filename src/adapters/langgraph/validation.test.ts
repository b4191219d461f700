import { useFolders } from "../../../test/support/folders.ts";
import { langGraphSuite } from "../../../test/support/langgraph-validation.ts";
import { openSqliteStore } from "../../stores/sqlite/index.ts";

const newFolder = useFolders("langgraph");
langGraphSuite("SQLite", () => openSqliteStore({ file: `${newFolder()}/runs.db` }));
