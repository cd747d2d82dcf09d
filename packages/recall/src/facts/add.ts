/** Adds facts to a memory file by compare-and-set, so that neither two writers nor a person lose a line. */
import type { CallOptions } from "@sessions/core/storage"
import { retried } from "../files/changes.ts"
import type { MemoryFile, MemoryFiles } from "../files/types.ts"
import { type Fact, factKey, factKeys, factLine } from "./fact.ts"
import { addLines, removeFacts } from "./section.ts"

/** Returns the facts that were written: those that neither the file nor `known` has. */
export async function addFacts(
  files: MemoryFiles,
  name: string,
  facts: readonly Fact[],
  { known, date, ...o }: CallOptions & { readonly known: ReadonlySet<string>; readonly date: string },
): Promise<readonly Fact[]> {
  return retried(name, async () => {
    const file = await files.read(name, o)
    const seen = new Set([...known, ...factKeys(file?.text ?? "")])
    const fresh = facts.filter((fact) => !seen.has(factKey(fact)) && seen.add(factKey(fact)))
    if (fresh.length === 0) return fresh
    const lines = fresh.map((fact) => factLine(fact, date))
    await files.write(name, addLines(file?.text ?? "", lines), { ...o, expect: file?.version ?? null })
    return fresh
  })
}

/** Removes the facts that extraction wrote to a file, and the file if nothing is left in it. Returns how many. */
export async function clearFacts(files: MemoryFiles, name: string, o: CallOptions): Promise<number> {
  return changed(files, name, o, async (file) => {
    const { text, removed } = removeFacts(file.text)
    if (text === file.text) return 0
    if (text === "") await files.delete(name, { ...o, expect: file.version })
    else await files.write(name, text, { ...o, expect: file.version })
    return removed
  })
}

/** Whether there was a file to delete. */
export async function deleteFile(files: MemoryFiles, name: string, o: CallOptions): Promise<number> {
  return changed(files, name, o, async ({ version }) => {
    await files.delete(name, { ...o, expect: version })
    return 1
  })
}

/** 0 if there is no file. */
function changed(
  files: MemoryFiles,
  name: string,
  o: CallOptions,
  change: (file: MemoryFile) => Promise<number>,
): Promise<number> {
  return retried(name, async () => {
    const file = await files.read(name, o)
    return file === undefined ? 0 : change(file)
  })
}
