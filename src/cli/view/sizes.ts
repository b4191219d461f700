export { bytes } from "../../core/values/amounts.ts";
