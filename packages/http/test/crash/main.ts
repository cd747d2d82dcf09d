/**
 * `main.ts [--rounds N] [--seed S]`: one or two servers run the prompts of a session and are killed at random steps; the next ones go on, and
 * get again what was not acknowledged. Then looks at the log from this process. Ends with `killed K servers, acknowledged A prompts, ran R,
 * interrupted I, lost 0, doubled 0, unreported 0`.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import type { Session } from "@sessions/core"
import { createIds } from "@sessions/core/format"
import { createSessionClient, type EndedTurn } from "@sessions/http/client"
import { createSessionHandler } from "@sessions/http/server"
import { createDice, type Dice } from "../../../core/test/dice.ts"
import { openSessions, say } from "./server.ts"

const { values } = parseArgs({ options: { rounds: { type: "string" }, seed: { type: "string" } } })
const rounds = Number(values.rounds ?? 20)
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
if (!Number.isSafeInteger(rounds) || rounds < 1 || !Number.isSafeInteger(seed)) {
  console.error("--rounds takes a whole number from 1 on, --seed a whole number.")
  process.exit(2)
}
/** Generations of servers that are killed one after the other. */
const LIVES = 3
/** The document names the last 20 ended turns, so that all of them are seen at the end. */
const PROMPTS = 18
/** After which a server is killed. `202`: an answer, which may come before the turn. */
const STEPS = ["202", "run", "call", "done"] as const
/** A server that does not reach its step, because the other one runs all turns, is killed after this. */
const LONGEST_MS = 3_000

interface Prompt {
  readonly id: string
  readonly text: string
  acknowledged: boolean
}

const newId = createIds()
const found = { killed: 0, acknowledged: 0, ran: 0, interrupted: 0, lost: 0, doubled: 0, unreported: 0 }
console.log(`seed ${seed}, ${rounds} rounds`)
for (let round = 0; round < rounds; round++) {
  const dice = createDice(seed + round * 7_919)
  const folder = mkdtempSync(join(tmpdir(), "sessions-http-crash-"))
  writeFileSync(join(folder, "runs"), "")
  const sessions = openSessions(folder)
  const created = await sessions.create()
  const { id } = created
  await created.close()
  await sessions.close()
  const prompts = Array.from(
    { length: PROMPTS },
    (_, n): Prompt => ({ id: newId(), text: `p${n}`, acknowledged: false }),
  )
  for (let life = 0; life < LIVES; life++) {
    const share = prompts.slice(0, ((life + 1) * PROMPTS) / LIVES)
    await Promise.all(Array.from({ length: 1 + dice.below(2) }, () => live(folder, id, share, dice)))
  }
  const before = found.lost + found.doubled + found.unreported
  await finish(folder, id, prompts)
  // What went wrong is kept to be looked at.
  if (found.lost + found.doubled + found.unreported === before) rmSync(folder, { recursive: true })
  else console.log(`round ${round}: ${folder}`)
}
console.log(
  `killed ${found.killed} servers, acknowledged ${found.acknowledged} prompts, ran ${found.ran}, interrupted ${found.interrupted}, lost ${found.lost}, doubled ${found.doubled}, unreported ${found.unreported}`,
)
process.exitCode = found.lost + found.doubled + found.unreported === 0 ? 0 : 1

/** One server, from its start to its end; sends it what is not acknowledged yet. */
function live(folder: string, session: string, prompts: readonly Prompt[], dice: Dice): Promise<void> {
  const step = STEPS[dice.below(STEPS.length)]
  let left = 1 + dice.below(5)
  const args = [fileURLToPath(new URL("child.ts", import.meta.url)), folder]
  const child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: ["ignore", "pipe", "inherit"] })
  const seen = (reached: string): void => {
    if (reached === step && --left === 0) child.kill("SIGKILL")
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  let text = ""
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    const lines = (text + piece).split("\n")
    text = lines.pop() ?? ""
    for (const line of lines) {
      seen(line)
      if (!line.startsWith("http")) continue
      timer = setTimeout(() => child.kill("SIGKILL"), LONGEST_MS)
      void send(line, session, prompts, () => seen("202"))
    }
  })
  return new Promise((resolve, reject) => {
    child.on("close", (code, signal) => {
      clearTimeout(timer)
      if (signal !== "SIGKILL") return reject(new Error(`a server ended with ${code ?? signal}`))
      found.killed++
      resolve()
    })
  })
}

/** Ends when the server is gone. */
async function send(url: string, session: string, prompts: readonly Prompt[], answered: () => void): Promise<void> {
  for (const prompt of prompts) {
    if (prompt.acknowledged) continue
    const { id, text } = prompt
    try {
      const answer = await fetch(`${url}/sessions/${session}/prompts`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ id, text }),
      })
      if (answer.ok) prompt.acknowledged = true
      else if (answer.status !== 429) throw new Error(`${answer.status}: ${await answer.text()}`)
    } catch (error) {
      if (error instanceof TypeError) return
      throw error
    }
    answered()
  }
}

/** Sends the rest, lets the last server run what waits, and looks. */
async function finish(folder: string, id: string, prompts: readonly Prompt[]): Promise<void> {
  const sessions = openSessions(folder)
  const runs = readFileSync(join(folder, "runs"), "utf8").trim().split("\n").filter(Boolean)
  const acknowledged = prompts.filter((prompt) => prompt.acknowledged)
  found.acknowledged += acknowledged.length
  const handler = createSessionHandler<string>({
    sessions: () => sessions,
    authorize: () => "tester",
    background: false,
    // The leases of the killed servers have ended.
    now: () => Date.now() + 2_000,
    async run({ session, message: { messageId } }) {
      runs.push(messageId)
      await say(session, `done ${messageId}`)
    },
  })
  const client = createSessionClient({ url: "http://host", fetch: (url, init) => handler(new Request(url, init)) })
  for (const { id: prompt, text } of prompts) {
    await client.prompt(id, { id: prompt, text })
    const { left } = await handler.runQueued(id, "tester")
    if (left > 0) throw new Error(`${left} prompts are left`)
  }
  let ended: readonly EndedTurn[] = []
  for await (const event of client.events(id)) {
    if (event.event === "state") ({ ended } = event.data)
    break
  }
  const session = await sessions.open(id)
  const texts = await textsOf(session)
  await session.close()
  await handler.close()
  await sessions.close()
  found.ran += runs.length
  for (const { id: prompt } of prompts) {
    const times = texts.filter((text) => text === prompt).length
    const turns = runs.filter((one) => one === prompt).length
    const isDone = texts.includes(`done ${prompt}`)
    const end = ended.find(({ messageId }) => messageId === prompt)
    if (times === 0) found.lost++
    if (times > 1 || turns > 1) found.doubled++
    if (end?.error?.code === "interrupted") found.interrupted++
    // A turn may have been interrupted behind its last append.
    else if (end === undefined || end.error !== undefined || !isDone) found.unreported++
  }
}

/** The ids of the user's messages and the texts of the answers. */
async function textsOf(session: Session): Promise<string[]> {
  const texts: string[] = []
  for await (const entry of session.entries()) {
    if (entry.type !== "message") continue
    const [block] = entry.message.content ?? []
    if (entry.message.role === "user") texts.push(entry.id)
    else if (block?.type === "text" && typeof block.text === "string") texts.push(block.text)
  }
  return texts
}
