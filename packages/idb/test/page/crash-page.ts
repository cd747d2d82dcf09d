/** The page that is killed: it appends until then, and reports each acknowledged append. */
import type { Head } from "@sessions/core/storage"
import { createIndexedDbStorage } from "@sessions/idb"

declare global {
  /** Defined by the driver. All lines below `next` were acknowledged. */
  function acknowledged(next: number): void
}

export type Durability = "relaxed" | "strict"

export interface CrashPage {
  /** All lines of the log, read with a new storage object. */
  lines(durability: Durability): Promise<string[]>
  appendForEver(durability: Durability): void
}

const page: CrashPage = {
  async lines(durability) {
    const storage = createIndexedDbStorage({ database: `crash-${durability}`, durability })
    const lines: string[] = []
    for await (const chunk of storage.read("a")) lines.push(...chunk.lines)
    const head = await storage.head("a")
    if ((head?.next ?? 0) !== lines.length) throw new Error(`The head counts ${head?.next} lines of ${lines.length}.`)
    await storage[Symbol.asyncDispose]()
    return lines
  },

  appendForEver: (durability) => void appendForEver(durability),
}

async function appendForEver(durability: Durability): Promise<never> {
  const storage = createIndexedDbStorage({ database: `crash-${durability}`, durability })
  let head: Head | 0 = (await storage.head("a")) ?? 0
  for (let turn = 0; ; turn++) {
    const from: number = head === 0 ? 0 : head.next
    const batch = Array.from({ length: 1 + (turn % 5) }, (_, index) => lineOf(from + index))
    head = await storage.append("a", batch, { expect: head })
    acknowledged(head.next)
    // Now and then, so that some crashes interrupt a compaction.
    if (turn % 40 === 39) await storage.compactRows("a")
  }
}

function lineOf(seq: number): string {
  return JSON.stringify({ seq, text: "x".repeat(20 + (seq % 400)) })
}

Object.assign(globalThis, { page })
