/** Appends through the contract, one line of 2 KB each. */
import type { Head, SessionStorage } from "@sessions/core/storage"
import { createFileStorage, type Files, nodeFiles } from "@sessions/fs"
import { contents, lineOf } from "./data.ts"
import type { Group, Way } from "./report.ts"

const COUNT = 2_000

export const appendGroups: readonly Group[] = ["prose, all ASCII", "prose, `ü` in every line"].map((title) => ({
  title: `append of ${title}`,
  prepare: async () => undefined,
  ways(root) {
    const content = contents[title] ?? String
    const lines = Array.from({ length: COUNT }, (_, seq) => lineOf(content, seq))
    const through = (name: string, id: string, files: Files): Way => {
      const storage = createFileStorage({ root, files })
      return { name, run: () => appendAll(storage, id, lines) }
    }
    return [
      through("`writeSync`, as it is", "a", nodeFiles),
      through("`FileSink`, `write` and `flush`", "b", sinkFiles()),
    ]
  },
  show: (seconds) => `${((seconds * 1e6) / COUNT).toFixed(2)} µs`,
}))

async function appendAll(storage: SessionStorage, id: string, lines: readonly string[]): Promise<void> {
  let head: Head | 0 = 0
  for (const line of lines) head = await storage.append(id, [line], { expect: head })
  await storage.delete(id)
}

/** A sink for each descriptor that is written to. It may buffer what it cannot write and says so nowhere, which alone rules it out. */
function sinkFiles(): Files {
  const sinks = new Map<number, Bun.Sink>()
  return {
    ...nodeFiles,
    write(fd, bytes, offset, length) {
      let sink = sinks.get(fd)
      if (sink === undefined) sinks.set(fd, (sink = Bun.file(fd).writer()))
      sink.write(bytes.subarray(offset, offset + length))
      const flushed = sink.flush()
      return typeof flushed === "number" ? flushed : length
    },
    close(fd) {
      sinks.delete(fd)
      nodeFiles.close(fd)
    },
  }
}
