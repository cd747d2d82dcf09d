/** Imports a session file of Claude Code: ours and the raw loop alternately, or ours once if `rounds` is 0. */
import { closeSync, openSync, readSync, rmSync } from "node:fs"
import { createSessions } from "@sessions/core"
import { importSession } from "@sessions/core/transfer"
import { claudeCode } from "@sessions/formats/claude-code"
import { holdInFile } from "@sessions/fs"
import { createStorage } from "../files/storage.ts"
import { inTurns, milliseconds, verify } from "../rounds.ts"
import { peakMemoryMB } from "../work.ts"

export interface ImportTimes {
  /** Milliseconds. */
  readonly ours: readonly number[]
  readonly raw: readonly number[]
  readonly entries: number
  readonly peakMB: number | undefined
}

const [file = "", how = "", rounds = "0"] = process.argv.slice(2)
let entries = 0
let lines = 0
const ours = how === "read" ? readAll : importAll
if (rounds === "0") await ours()
const raw = (): Promise<number> => milliseconds(rawLoop)
const pair = rounds === "0" ? { ours: [], raw: [] } : await inTurns({ ours: timedOurs, raw }, Number(rounds))
const times: ImportTimes = { ...pair, entries, peakMB: peakMemoryMB() }
console.log(JSON.stringify(times))

async function timedOurs(round: number): Promise<number> {
  const time = await milliseconds(ours)
  // An assistant's two lines are one entry.
  verify(round === 0 || entries === lines - lines / 6, `${entries} entries of ${lines} lines`)
  rmSync(`${file}.store`, { recursive: true, force: true })
  return time
}

async function readAll(): Promise<void> {
  entries = -1
  const main = textOf(pieces())
  for await (const some of claudeCode.read({ main, beside: () => undefined }, { note: () => undefined }))
    entries += Array.isArray(some) ? some.length : 1
}

async function* textOf(chunks: Iterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  for (const chunk of chunks) yield decoder.decode(chunk, { stream: true })
}

/** As the command reads a file. */
function* pieces(): Generator<Uint8Array, void, undefined> {
  const buffer = new Uint8Array(65_536)
  const fd = openSync(file, "r")
  for (let read = readSync(fd, buffer); read > 0; read = readSync(fd, buffer)) yield buffer.subarray(0, read)
  closeSync(fd)
}

async function importAll(): Promise<void> {
  const sessions = createSessions({ storage: createStorage({ root: `${file}.store`, maxSessionBytes: 4e9 }) })
  const source = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    yield* pieces()
  }
  const held = holdInFile()
  const result = await importSession(sessions, source, { from: { ...claudeCode, hold: held.hold } })
  held[Symbol.dispose]()
  entries = result.lines - 1
  await sessions.close()
}

function rawLoop(): void {
  const decoder = new TextDecoder()
  const buffer = new Uint8Array(262_144)
  const fd = openSync(file, "r")
  let rest = ""
  lines = 0
  for (;;) {
    const read = readSync(fd, buffer, 0, buffer.length, null)
    if (read === 0) break
    const text = rest + decoder.decode(buffer.subarray(0, read), { stream: true })
    let from = 0
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      JSON.parse(text.slice(from, end))
      lines++
      from = end + 1
    }
    rest = text.slice(from)
  }
  closeSync(fd)
}
