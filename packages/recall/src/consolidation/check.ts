/** Rules for the memory files after a consolidation, whatever the agent says. */
import type { CallOptions } from "@sessions/core/storage"
import { INDEX_FILE } from "../files/names.ts"
import type { MemoryFiles } from "../files/types.ts"
import { MAX_INDEX_LINES } from "./prompts.ts"

/** Whether any file has a text. */
export async function hasMemory(files: MemoryFiles, o: CallOptions): Promise<boolean> {
  for (const name of await files.list(o)) if (((await files.read(name, o))?.text ?? "").trim() !== "") return true
  return false
}

/** The rules that the files break, as sentences. `had`: the memory had a text before. */
export async function problemsOf(files: MemoryFiles, had: boolean, o: CallOptions): Promise<readonly string[]> {
  const names = await files.list(o)
  const index = await files.read(INDEX_FILE, o)
  if (had && !(await hasMemory(files, o))) return ["Everything that was remembered is gone."]
  if (index === undefined) return names.length === 0 ? [] : [`${INDEX_FILE} is missing.`]
  const lines = index.text.replace(/\n$/, "").split("\n").length
  const missing = [...new Set(linkedNames(index.text))].filter((name) => !names.includes(name))
  return [
    ...(lines < MAX_INDEX_LINES
      ? []
      : [`${INDEX_FILE} has ${lines} lines; it must have fewer than ${MAX_INDEX_LINES}.`]),
    ...missing.map((name) => `${INDEX_FILE} links to ${name}, which does not exist.`),
  ]
}

/** Links to memory files: `[Title](file.md)`. Those with a path lead elsewhere. */
function linkedNames(text: string): readonly string[] {
  const links = text.matchAll(/\]\(\s{0,9}<?(?:\.\/)?([A-Za-z0-9][A-Za-z0-9_-]*\.md)(?:[#>\s][^)\n]{0,500})?\)/g)
  return [...links].map((match) => match[1] as string)
}
