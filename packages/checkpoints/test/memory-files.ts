/** Files in memory with an old mtime, so that what was read once is trusted until it changes. */
import type { WorkFiles } from "../src/index.ts"

export interface MemoryFiles extends WorkFiles {
  /** How often each file was read. */
  readonly reads: Map<string, number>
  set(path: string, text: string, mtimeMs?: number): void
}

export function createMemoryFiles(): MemoryFiles {
  const files = new Map<string, { readonly bytes: Uint8Array; readonly mtimeMs: number }>()
  const reads = new Map<string, number>()
  let clock = 0
  const set = (path: string, bytes: Uint8Array, mtimeMs = ++clock): unknown => files.set(path, { bytes, mtimeMs })
  return {
    root: "/project",
    reads,
    set: (path, text, mtimeMs) => set(path, new TextEncoder().encode(text), mtimeMs),
    async stat(path) {
      const file = files.get(path)
      return file === undefined ? { kind: "absent" } : { kind: "file", bytes: file.bytes.length, mtimeMs: file.mtimeMs }
    },
    async read(path) {
      reads.set(path, (reads.get(path) ?? 0) + 1)
      return files.get(path)?.bytes.slice()
    },
    async write(path, bytes) {
      set(path, bytes)
    },
    async remove(path) {
      files.delete(path)
    },
  }
}
