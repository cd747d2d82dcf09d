/**
 * The process that is killed: reads its plan from standard input, makes changes one after the other, says before each what it is
 * about to do and afterwards that it was told it is done.
 */
import { writeSync } from "node:fs"
import type { Chunk, Head, SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "../../src/index.ts"
import { createKillingFiles } from "./killing-files.ts"
import { DOC_KEYS, type Op, type Plan, type Report, sessionDoc } from "./protocol.ts"
import { createDice, type Dice } from "../../../core/test/dice.ts"

const plan = await readPlan()
const random = createDice(plan.seed)
const files = createKillingFiles(plan.kill, plan.errors, random)
const { root, durability, maxPartBytes } = plan
const storage = createFileStorage({ root, durability, maxPartBytes, files })
const heads = new Map<string, Head>()
for (const session of plan.sessions) {
  const head = await storage.head(session)
  if (head !== undefined) heads.set(session, { next: head.next, log: head.log })
}
report({ ready: true })

let lines = 0
for (let n = 0; n < plan.ops; n++) {
  const op = n === 0 && plan.repair !== undefined ? appendTo(plan.repair) : chooseOp(random)
  report({ start: op })
  files.during = op.kind
  try {
    await perform(storage, op)
    files.during = undefined
    report({ done: true })
  } catch (error) {
    files.during = undefined
    const { code = "no code", message } = error as Error & { code?: string }
    report({ failed: code, message })
    // What the log holds now is for the parent to find out.
    if (code === "indeterminate" || code === "corrupt") break
  }
}
report({ end: true })
process.exit(0)

async function readPlan(): Promise<Plan> {
  let text = ""
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    text += String(chunk)
    if (text.includes("\n")) break
  }
  return JSON.parse(text) as Plan
}

function report(said: Report): void {
  writeSync(1, `${JSON.stringify(said)}\n`)
}

function chooseOp({ next, below, pick }: Dice): Op {
  const session = pick(plan.sessions)
  const dice = next()
  // Sometimes a document comes first, so that the log is made in a folder that is there.
  if (!heads.has(session) && dice > 0.85) return { kind: "put", key: sessionDoc(session), text: `early ${lines++}` }
  if (!heads.has(session) || dice < 0.55) return appendTo(session)
  if (dice < 0.6) return { kind: "delete", session }
  if (dice < 0.68) return { kind: "replace", session, lines: newLines(1 + below(30)) }
  if (dice < 0.72) return { kind: "sync", session }
  if (dice < 0.78) return { kind: "blob", text: `blob ${plan.round % 5} ${below(4)}` }
  const key = pick([...DOC_KEYS, sessionDoc(session)])
  if (dice < 0.82) return { kind: "drop", key }
  return { kind: "put", key, text: `text ${plan.round} ${lines++} ${"x".repeat(below(300))}` }
}

/** Often more than what is left of a part. */
function appendTo(session: string): Op {
  return { kind: "append", session, lines: newLines(1 + random.below(5)) }
}

function newLines(count: number): string[] {
  return Array.from({ length: count }, () => {
    const pad = random.pick(["x", "ü", "👍"]).repeat(random.below(200))
    return JSON.stringify({ round: plan.round, n: lines++, pad })
  })
}

async function perform({ docs, blobs, ...storage }: SessionStorage, op: Op): Promise<void> {
  switch (op.kind) {
    case "append":
      heads.set(op.session, await storage.append(op.session, op.lines, { expect: heads.get(op.session) ?? 0 }))
      return
    case "replace": {
      const expect = heads.get(op.session) as Head
      heads.set(op.session, (await storage.replace?.(op.session, inChunks(op.lines), { expect })) as Head)
      return
    }
    case "delete":
      await storage.delete(op.session)
      heads.delete(op.session)
      return
    case "sync":
      await storage.sync?.(op.session)
      return
    case "put":
      await docs.put(op.key, op.text, { expect: (await docs.get(op.key))?.version ?? null })
      return
    case "drop": {
      const doc = await docs.get(op.key)
      if (doc !== undefined) await docs.delete(op.key, { expect: doc.version })
      return
    }
    case "blob":
      await blobs.put(new TextEncoder().encode(op.text))
  }
}

async function* inChunks(lines: readonly string[]): AsyncGenerator<Chunk> {
  for (let from = 0; from < lines.length; from += 7) yield { from, lines: lines.slice(from, from + 7) }
}
