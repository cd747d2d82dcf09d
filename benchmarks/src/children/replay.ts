/** Replays a session: ours and the raw loop alternately, or ours once if `rounds` is 0. */
import { closeSync, openSync, readdirSync, readSync } from "node:fs"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { sessionTree } from "@sessions/core/transfer"
import { createStorage } from "../files/storage.ts"
import { inTurns, milliseconds, verify } from "../rounds.ts"
import { peakMemoryMB } from "../work.ts"

export interface ReplayTimes {
  /** Milliseconds. */
  readonly ours: readonly number[]
  readonly raw: readonly number[]
  /** Of the raw loop that gives what ours gives: a tree of nodes, and copies of the messages. */
  readonly rawCopies: readonly number[]
  readonly entries: number
  readonly peakMB: number | undefined
}

const [root = "", session = "", how = "", rounds = "0"] = process.argv.slice(2)
let entries = 0
const rawCopies: number[] = []
if (rounds === "0") await replay()
const pair =
  rounds === "0"
    ? { ours: [], raw: [] }
    : await inTurns(
        {
          ours: () => milliseconds(replay),
          async raw(round) {
            const before = entries
            const time = await milliseconds(rawLoop)
            verify(entries === before, `the raw loop saw ${entries} entries, ours ${before}`)
            if (how === "tree" && round > 0) rawCopies.push(await milliseconds(() => treeAndCopies(rawLoop())))
            return time
          },
        },
        Number(rounds),
      )
const times: ReplayTimes = { ...pair, rawCopies, entries, peakMB: peakMemoryMB() }
console.log(JSON.stringify(times))

async function replay(): Promise<void> {
  const sessions = createSessions({ storage: createStorage({ root, maxSessionBytes: 4e9 }) })
  const open = await sessions.open(session)
  if (how === "tree") {
    const { path } = await sessionTree(open)
    entries = path.length
    await open.context()
  } else {
    entries = 0
    for await (const _ of open.entries()) entries++
  }
  await sessions.close()
}

/** Reads the parts in chunks of 256 KB into one buffer, finds line ends and parses each line. */
function rawLoop(): readonly Json[] {
  const folder = join(root, session)
  const parts = readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .sort((a, b) => firstSeq(a) - firstSeq(b))
  const kept: Json[] = []
  let lines = 0
  for (const part of parts) {
    const decoder = new TextDecoder()
    const buffer = new Uint8Array(262_144)
    const fd = openSync(join(folder, part), "r")
    let rest = ""
    for (;;) {
      const read = readSync(fd, buffer, 0, buffer.length, null)
      if (read === 0) break
      const text = rest + decoder.decode(buffer.subarray(0, read), { stream: true })
      let from = 0
      for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
        const value: Json = JSON.parse(text.slice(from, end))
        // A tree keeps what it parsed; a stream does not.
        if (how === "tree") kept.push(value)
        lines++
        from = end + 1
      }
      rest = text.slice(from)
    }
    closeSync(fd)
  }
  // The first line is the header.
  entries = lines - 1
  return kept
}

type Json = Readonly<Record<string, unknown>>

interface Node {
  readonly entry: Json
  readonly children: Node[]
}

/** The least that a tree and a context can be whose objects are the caller's. Nothing is checked. */
function treeAndCopies(records: readonly Json[]): unknown {
  const nodes = new Map<unknown, Node>()
  const roots: Node[] = []
  const messages: unknown[] = []
  for (const entry of records) {
    if (entry["type"] === "session") continue
    const node: Node = { entry, children: [] }
    nodes.set(entry["id"], node)
    ;(nodes.get(entry["parentId"])?.children ?? roots).push(node)
    messages.push({ entryId: entry["id"], kind: "message", message: copyOf(entry["message"]) })
  }
  return { roots, messages }
}

function copyOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf)
  const copy: Record<string, unknown> = { ...value }
  for (const key in copy) copy[key] = copyOf(copy[key])
  return copy
}

function firstSeq(name: string): number {
  return Number(/\.(\d+)\.jsonl$/.exec(name)?.[1] ?? 0)
}
