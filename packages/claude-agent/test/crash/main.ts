/**
 * `main.ts [--rounds N] [--seed S]`: two processes append to one transcript and are killed in the middle; the next ones repeat what was not
 * acknowledged. Then looks for each line from this process. Ends with `killed K processes, acknowledged A lines, lost 0, doubled 0, moved 0`.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { createClaudeStore, type SessionStoreEntry } from "@sessions/claude-agent"
import { createDice, type Dice } from "../../../core/test/dice.ts"
import { batch, KEY, openSessions, type Store, STORES, WRITERS } from "./batches.ts"

const { values } = parseArgs({ options: { rounds: { type: "string" }, seed: { type: "string" } } })
const rounds = Number(values.rounds ?? 20)
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
if (!Number.isSafeInteger(rounds) || rounds < 1 || !Number.isSafeInteger(seed)) {
  console.error("--rounds takes a whole number from 1 on, --seed a whole number.")
  process.exit(2)
}
/** Processes of a writer that are killed one after the other, on the same transcript. */
const LIVES = 3
const MOST_BATCHES = 25

console.log(`seed ${seed}, ${rounds} rounds`)
const found = { killed: 0, lines: 0, lost: 0, doubled: 0, moved: 0 }
for (let round = 0; round < rounds; round++) {
  const dice = createDice(seed + round * 7_919)
  const store = STORES[round % STORES.length] as Store
  const folder = mkdtempSync(join(tmpdir(), "sessions-claude-crash-"))
  const last = Array.from({ length: WRITERS }, () => -1)
  for (let life = 0; life < LIVES; life++) {
    await Promise.all(
      last.map(async (from, writer) => void (last[writer] = await live(store, folder, writer, from, dice))),
    )
  }
  const before = found.lost + found.doubled + found.moved
  await look(store, folder, last)
  // What went wrong is kept to be looked at.
  if (found.lost + found.doubled + found.moved === before) rmSync(folder, { recursive: true })
  else console.log(`round ${round}: ${folder}`)
}
console.log(
  `killed ${found.killed} processes, acknowledged ${found.lines} lines, lost ${found.lost}, doubled ${found.doubled}, moved ${found.moved}`,
)
process.exitCode = found.lost + found.doubled + found.moved === 0 ? 0 : 1

/** Returns the last number that was acknowledged when the process was killed. */
function live(store: Store, folder: string, writer: number, from: number, dice: Dice): Promise<number> {
  const until = from + 1 + dice.below(MOST_BATCHES)
  const args = [fileURLToPath(new URL("child.ts", import.meta.url)), store, folder, String(writer), String(from + 1)]
  const child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: ["ignore", "pipe", "inherit"] })
  let last = from
  let text = ""
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    text += piece
    last = Math.max(last, ...text.split("\n").slice(0, -1).map(Number))
    // It is somewhere in the next append.
    if (last >= until) child.kill("SIGKILL")
  })
  return new Promise((resolve, reject) => {
    child.on("close", (code, signal) => {
      if (signal !== "SIGKILL") return reject(new Error(`writer ${writer} on ${store} ended with ${code ?? signal}`))
      found.killed++
      resolve(last)
    })
  })
}

async function look(store: Store, folder: string, last: readonly number[]): Promise<void> {
  const sessions = openSessions(store, folder)
  const claude = createClaudeStore({ sessions })
  const lines = (await claude.load(KEY)) ?? []
  await claude.close()
  await sessions.close()
  const uuids = lines.flatMap(({ uuid }) => (uuid === undefined ? [] : [uuid]))
  const tags = new Set(lines.map((line) => line["tag"]))
  found.doubled += uuids.length - new Set(uuids).size
  for (const [writer, to] of last.entries()) {
    const acknowledged = Array.from({ length: to + 1 }, (_, n) => batch(writer, n)).flat()
    found.lines += acknowledged.length
    found.lost += acknowledged.filter((line) => !isIn(line, new Set(uuids), tags)).length
    const own = uuids.filter((uuid) => uuid.startsWith(`own-${writer}-`))
    const expected = acknowledged.flatMap(({ uuid }) => (uuid?.startsWith("own") === true ? [uuid] : []))
    if (expected.some((uuid, index) => own[index] !== uuid)) found.moved++
  }
}

function isIn({ uuid, tag }: SessionStoreEntry, uuids: ReadonlySet<string>, tags: ReadonlySet<unknown>): boolean {
  return uuid === undefined ? tags.has(tag) : uuids.has(uuid)
}
