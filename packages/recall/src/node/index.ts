/** Memory files in a folder, on Node, Bun and Deno. */
export { createFolderMemory } from "./folder.ts"
