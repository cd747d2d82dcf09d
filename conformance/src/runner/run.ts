import type { Capabilities } from "@sessions/core/storage"
import type { Case, Group, Hooks } from "../case/case.ts"
import { cases } from "../cases/index.ts"
import { Mismatch } from "../helpers/assert.ts"
import type { OpenContext, Sizes } from "../case/context.ts"
import { defaultSizes, openContext, Skipped } from "../case/context.ts"
import type { CaseResult } from "./result.ts"
import { came, failureOf } from "./result.ts"
import { runtimeName } from "./runtime.ts"
import type { Subject } from "../subject.ts"
import { SUITE_VERSION } from "./version.ts"
import { within } from "../helpers/timeout.ts"

export interface RunOptions {
  /** Only cases with these ids or of these groups, in any case of letters; default all. */
  readonly only?: readonly string[]
  /** Milliseconds for each case, and again for closing what it opened. Default 10,000. */
  readonly timeLimit?: number
  /** How much the cases do; see {@link Sizes}. */
  readonly sizes?: Partial<Sizes>
  /**
   * Gives what reached nobody since it was last asked: rejections that nobody handles, errors thrown in timers. Asked after each case,
   * which fails for it. Without it the runtime does with them what it does.
   */
  readonly strays?: () => readonly unknown[]
  /** Called as each case ends. */
  readonly onResult?: (result: CaseResult) => void
}

export interface Report {
  readonly suite: string
  readonly subject: string
  /** E.g. `node 26.10.0`. */
  readonly runtime: string
  /** Missing where no storage could be opened. */
  readonly capabilities?: Capabilities
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number }
  readonly milliseconds: number
  readonly results: readonly CaseResult[]
}

/** Runs the cases one after the other, without a test runner. Never rejects because of the subject: what it does wrong is in the report. */
export async function run<L>(subject: Subject<L>, options: RunOptions = {}): Promise<Report> {
  const started = performance.now()
  const results: CaseResult[] = []
  for (const one of selectCases(options.only)) {
    const result = await runCase(subject, one, options)
    results.push(result)
    options.onResult?.(result)
  }
  const count = (status: CaseResult["status"]): number => results.filter((result) => result.status === status).length
  const capabilities = results.find((result) => result.capabilities !== undefined)?.capabilities
  return {
    suite: SUITE_VERSION,
    subject: subject.name,
    runtime: runtimeName(),
    ...(capabilities !== undefined && { capabilities }),
    counts: { passed: count("passed"), failed: count("failed"), skipped: count("skipped") },
    milliseconds: performance.now() - started,
    results,
  }
}

/** Throws where a name is neither an id nor a group, so that a mistyped one does not pass for a green run. */
export function selectCases(only: readonly string[] | undefined): readonly Case[] {
  if (only === undefined) return cases
  const wanted = new Set(only.map((name) => name.toLowerCase()))
  const known = new Set(cases.flatMap(({ id, group }): string[] => [id.toLowerCase(), group satisfies Group]))
  const unknown = [...wanted].find((name) => !known.has(name))
  if (unknown !== undefined) throw new TypeError(`There is no case and no group named ${unknown}.`)
  return cases.filter(({ id, group }) => wanted.has(id.toLowerCase()) || wanted.has(group))
}

/** Why a case means nothing for a storage that can do no more than this. */
export function reasonToSkip({ needs }: Case, capabilities: Capabilities, hooks: Hooks): string | undefined {
  return needs === undefined || needs.met(capabilities, hooks) ? undefined : `needs ${needs.text}`
}

const AFTERWARDS = "disposing of the storages and taking the place away, after the case had passed"

export async function runCase<L>(subject: Subject<L>, one: Case, options: RunOptions = {}): Promise<CaseResult> {
  const limit = options.timeLimit ?? 10_000
  const started = performance.now()
  let opened: OpenContext | undefined
  let status: Pick<CaseResult, "status" | "reason" | "failure">
  const failed = (error: unknown): typeof status => ({
    status: "failed",
    failure: failureOf(one, subject.name, error, opened?.traces() ?? []),
  })
  try {
    opened = await within(limit, () => openContext(subject, { ...defaultSizes, ...options.sizes }))
    const { context } = opened
    const reason = reasonToSkip(one, context.capabilities, subject)
    if (reason === undefined) await within(limit, () => one.run(context))
    status = reason === undefined ? { status: "passed" } : { status: "skipped", reason }
  } catch (error) {
    status = error instanceof Skipped ? { status: "skipped", reason: error.message } : failed(error)
  }
  try {
    await within(limit, async () => opened?.end())
  } catch (error) {
    if (status.status !== "failed") status = failed(new Mismatch(AFTERWARDS, "success", came(error)))
  }
  const [stray] = await straysOf(options)
  if (stray !== undefined && status.status !== "failed") status = failed(stray)
  const { id, group, clause, title } = one
  const capabilities = opened?.context.capabilities
  const milliseconds = performance.now() - started
  return { id, group, clause, title, ...status, milliseconds, ...(capabilities !== undefined && { capabilities }) }
}

async function straysOf({ strays }: RunOptions): Promise<readonly Mismatch[]> {
  if (strays === undefined) return []
  // The runtime tells of a rejection when the promises of this turn have settled.
  await new Promise((resolve) => setTimeout(resolve, 0))
  const what = "what went wrong where nobody could catch it, while the case ran or before it"
  return strays().map((error) => new Mismatch(what, "nothing: whatever fails rejects a call", came(error)))
}
