/** The working folder of an agent on Node, Bun and Deno. */
export { createWorkFiles } from "./work-files.ts"
