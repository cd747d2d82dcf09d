import { pathToFileURL } from "node:url"
import { join } from "node:path"
import { newestNode } from "./runtimes.mjs"
import { root } from "./workspace.mjs"

/**
 * What Node needs to run TypeScript of the workspace: packages resolve to their sources, and types are stripped also where Node does not.
 * Packages of others have TypeScript under the condition "source", which Node does not load from node_modules.
 */
export const flags = [
  "--conditions=@sessions/source",
  "--import",
  pathToFileURL(join(root, ".tools", "typescript.mjs")).href,
]

/** The command of a program of the repository from the sources, on the newest Node: `[program, args]`. `path` is relative to the root. */
export function fromSources(path, ...args) {
  return [newestNode(), [...flags, join(root, path), ...args.map(String)]]
}
