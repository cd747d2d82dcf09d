/** Adds facts to a memory file by compare-and-set, so that neither two writers nor a person lose a line. */
import { type CallOptions, hasStorageCode, StorageError } from "@sessions/core/storage"
import type { MemoryFile, MemoryFiles } from "../files/types.ts"
import { type Fact, factKey, factKeys, factLine } from "./fact.ts"
import { addLines, removeFacts } from "./section.ts"

/** Each conflict means that another writer succeeded, so only a storage that does not keep its promise reaches this. */
const ATTEMPTS = 1_000

/** Returns the facts that were written: those that neither the file nor `known` has. */
export async function addFacts(
  files: MemoryFiles,
  name: string,
  facts: readonly Fact[],
  { known, date, ...o }: CallOptions & { readonly known: ReadonlySet<string>; readonly date: string },
): Promise<readonly Fact[]> {
  /** A write whose outcome is unknown may have happened: then the file has its facts when it is read again. */
  let unsure: readonly Fact[] = []
  return retried(name, async () => {
    const file = await files.read(name, o)
    const seen = new Set([...known, ...factKeys(file?.text ?? "")])
    const fresh = facts.filter((fact) => !seen.has(factKey(fact)) && seen.add(factKey(fact)))
    if (fresh.length === 0) return unsure
    const lines = fresh.map((fact) => factLine(fact, date))
    try {
      await files.write(name, addLines(file?.text ?? "", lines), { ...o, expect: file?.version ?? null })
    } catch (error) {
      unsure = hasStorageCode(error, "indeterminate") ? fresh : []
      throw error
    }
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

async function retried<T>(name: string, attempt: () => Promise<T>): Promise<T> {
  for (let count = 0; count < ATTEMPTS; count++) {
    try {
      return await attempt()
    } catch (error) {
      if (!hasStorageCode(error, "conflict") && !hasStorageCode(error, "indeterminate")) throw error
    }
  }
  throw new StorageError("conflict", `${name} was changed by others at each of ${ATTEMPTS} attempts: repeat the call.`)
}
