/** One round: a process makes changes until it is killed, another runtime looks, and what it finds is held against what was acknowledged. */
import * as fs from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { applied, judge, linesIn, type Model, possible } from "./model.ts"
import type { Worker } from "./processes.ts"
import {
  type Answer,
  type KillStep,
  type LookRequest,
  type Op,
  type OpKind,
  type Plan,
  type Report,
} from "./protocol.ts"
import type { Dice } from "../../../core/test/dice.ts"
import { HANG_MS } from "../../../../.config/limits.ts"

export interface Outcome {
  readonly acknowledged: number
  readonly lost: number
  readonly corrupt: readonly string[]
  /** What the folder holds now; undefined where that cannot be told. */
  readonly model: Model | undefined
  readonly plan: Plan
  readonly killed: boolean
}

export interface RoundOptions {
  readonly root: string
  readonly round: number
  readonly random: Dice
  readonly model: Model
  readonly child: Worker
  readonly verifier: Worker
}

export const SESSIONS: readonly string[] = ["alpha", "beta"]

export async function runRound(o: RoundOptions): Promise<Outcome> {
  const { child, verifier, random, model: before } = o
  const torn = random.next() < 0.3 ? tear(o) : undefined
  const plan = makePlan(o, torn?.session)
  const story = await watchChild(child, plan, before, random)
  const corrupt = [...story.corrupt]
  const { found, error } = await ask(verifier, plan)
  if (found === undefined) {
    corrupt.push(`${verifier.runtime.name} cannot read it: ${error}`)
    return { ...story, lost: 0, corrupt, plan, model: undefined }
  }
  const verdict = judge(possible(story.model, story.underWay), found)
  corrupt.push(...verdict.corrupt)
  if (torn !== undefined && !story.rebuilt.has(torn.session) && !isKeptAside(o.root, torn)) {
    corrupt.push(`${torn.session}: its torn end was not kept aside`)
  }
  const sessions = Object.fromEntries(
    Object.entries(found.sessions).map(([id, lines]) => [id, [...lines, verifyingLine(plan)]]),
  )
  return { ...story, lost: verdict.lost, corrupt, plan, model: { sessions, docs: found.docs, blobs: found.blobs } }
}

/** Beyond the number of file operations that any change of the plan has. */
const MOST_STEPS = 30
const KINDS: readonly OpKind[] = ["append", "replace", "delete", "put", "append", "drop", "replace"]
const LONGEST_MS = 40

function makePlan({ root, round, random }: RoundOptions, repair: string | undefined): Plan {
  const phase = random.pick(["before", "after", "half"] as const)
  const kill: KillStep | undefined =
    repair !== undefined
      ? { kind: "any", step: random.below(MOST_STEPS), phase }
      : round % 3 === 0
        ? undefined
        : { kind: round % 3 === 1 ? "any" : random.pick(KINDS), step: random.below(MOST_STEPS * 3), phase }
  return {
    root,
    round,
    seed: random.below(2 ** 31),
    durability: random.pick(["os", "disk"]),
    maxPartBytes: 3_000,
    sessions: SESSIONS,
    ops: kill === undefined ? 10_000 : 120,
    errors: random.pick([0, 0, 0.02]),
    ...(kill === undefined ? {} : { kill }),
    ...(repair === undefined ? {} : { repair }),
  }
}

interface Story {
  readonly acknowledged: number
  readonly model: Model
  /** Asked for and not answered, or answered with "perhaps". */
  readonly underWay: Op | undefined
  readonly corrupt: readonly string[]
  readonly killed: boolean
  /** Sessions whose files were made anew. */
  readonly rebuilt: ReadonlySet<string>
}

async function watchChild(child: Worker, plan: Plan, before: Model, random: Dice): Promise<Story> {
  let model = before
  let underWay: Op | undefined
  let acknowledged = 0
  let ended = false
  const corrupt: string[] = []
  const rebuilt = new Set<string>()
  child.send(plan)
  const limit = setTimeout(() => child.process.kill("SIGKILL"), HANG_MS)
  for await (const said of child.said as AsyncIterable<Report>) {
    if ("ready" in said && plan.kill === undefined) void killLater(child, random.next() * LONGEST_MS)
    if ("start" in said) {
      underWay = said.start
      if (underWay.kind === "delete" || underWay.kind === "replace") rebuilt.add(underWay.session)
    }
    if ("done" in said && underWay !== undefined) {
      model = applied(model, underWay)
      acknowledged += linesIn(underWay)
      underWay = undefined
    }
    if ("failed" in said) {
      if (said.failed === "conflict" || said.failed === "no code") corrupt.push(`${underWay?.kind}: ${said.message}`)
      if (said.failed !== "indeterminate" && said.failed !== "corrupt") underWay = undefined
    }
    if ("end" in said) ended = true
  }
  await child.ended
  clearTimeout(limit)
  const killed = child.process.signalCode === "SIGKILL"
  if (!killed && !ended) corrupt.push(`${child.runtime.name} ended by itself: ${child.complaints()}`)
  return { acknowledged, model, underWay, corrupt, killed, rebuilt }
}

async function killLater(child: Worker, ms: number): Promise<void> {
  await pause(ms)
  child.process.kill("SIGKILL")
}

async function ask(
  verifier: Worker,
  plan: Plan,
): Promise<{ found?: Extract<Answer, { found: unknown }>["found"]; error?: string }> {
  const { root, sessions, maxPartBytes } = plan
  verifier.send({ root, sessions, maxPartBytes, line: verifyingLine(plan) } satisfies LookRequest)
  const limit = setTimeout(() => verifier.process.kill("SIGKILL"), HANG_MS)
  const { value, done } = await verifier.said.next()
  clearTimeout(limit)
  if (done === true) return { error: `it ended, or took too long: ${verifier.complaints()}` }
  return value as Answer
}

function verifyingLine({ round }: Plan): string {
  return JSON.stringify({ looked: round })
}

interface Torn {
  readonly session: string
  readonly text: string
}

/** Leaves the beginning of a line at the end of a log, as a write does that was cut short by a failing machine. */
function tear({ root, round, random, model }: RoundOptions): Torn | undefined {
  const session = random.pick(SESSIONS)
  if (model.sessions[session] === undefined) return undefined
  const text = `{"torn":${round},"pad":"${"t".repeat(random.below(300))}`
  const parts = fs
    .readdirSync(join(root, session))
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => ({ name, from: Number(/\.(\d+)\.jsonl$/.exec(name)?.[1] ?? 0) }))
    .sort((a, b) => a.from - b.from)
  fs.appendFileSync(join(root, session, parts.at(-1)?.name ?? ""), text)
  return { session, text }
}

function isKeptAside(root: string, { session, text }: Torn): boolean {
  const folder = join(root, session)
  const aside = fs.readdirSync(folder).filter((name) => name.endsWith(".torn"))
  return aside.some((name) => fs.readFileSync(join(folder, name), "utf8") === text)
}
