export { mastraStorage } from "./storage.ts";
