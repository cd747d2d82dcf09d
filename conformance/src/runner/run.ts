/** Runs the cases against a subject without a test runner, and reports each result. */
import type { Capabilities } from "@sessions/core/storage"
import type { Case, Group, SubjectFeatures } from "../case/case.ts"
import { cases } from "../cases/index.ts"
import { Mismatch } from "../helpers/assert.ts"
import { showError } from "../helpers/show.ts"
import { defaultSizes, type OpenContext, openContext, type Sizes, Skipped } from "../case/context.ts"
import { type CaseResult, failureOf } from "./result.ts"
import type { Subject } from "../subject.ts"

import { TIME_LIMIT_MS, withTimeout } from "../helpers/timeout.ts"

/** The version of the suite in reports; equals the version of the package. */
export const SUITE_VERSION = "0.1.0"

export interface RunOptions {
  /** Ids of cases or names of groups, not case-sensitive; default all. */
  readonly only?: readonly string[]
  /** Milliseconds for each case, and again for its cleanup. Default 120,000. */
  readonly timeLimit?: number
  /** How much work the cases do; see {@link Sizes}. */
  readonly sizes?: Partial<Sizes>
  /**
   * Returns the uncaught errors since its last call: unhandled rejections and errors that were thrown in timers. It is called after
   * each case, which fails if there are any. Without it, the runtime handles them in its own way.
   */
  readonly uncaughtErrors?: () => readonly unknown[]
  /** Called as each case ends. */
  readonly onResult?: (result: CaseResult) => void
}

export interface Report {
  readonly suite: string
  readonly subject: string
  /** E.g. `node 26.10.0`. */
  readonly runtime: string
  /** Missing if no storage could be opened. */
  readonly capabilities?: Capabilities
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number }
  readonly milliseconds: number
  readonly results: readonly CaseResult[]
}

/** Runs the cases one after the other. Errors of the subject are in the report; they never make this reject. */
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

/** Throws a TypeError for a name that is neither an id nor a group, so that a mistyped name does not look like a green run. */
export function selectCases(only: readonly string[] | undefined): readonly Case[] {
  if (only === undefined) return cases
  const wanted = new Set(only.map((name) => name.toLowerCase()))
  const known = new Set(cases.flatMap(({ id, group }): string[] => [id.toLowerCase(), group satisfies Group]))
  const unknown = [...wanted].find((name) => !known.has(name))
  if (unknown !== undefined) throw new TypeError(`There is no case or group named ${unknown}.`)
  return cases.filter(({ id, group }) => wanted.has(id.toLowerCase()) || wanted.has(group))
}

/** Why a case does not apply to a subject; undefined if it does. */
export function reasonToSkip(
  { needs }: Case,
  capabilities: Capabilities,
  features: SubjectFeatures,
): string | undefined {
  return needs === undefined || needs.met(capabilities, features) ? undefined : `needs ${needs.text}`
}

const CLEANUP = "closing the storages and removing the location, after the case had passed"

export async function runCase<L>(subject: Subject<L>, one: Case, options: RunOptions = {}): Promise<CaseResult> {
  const limit = options.timeLimit ?? TIME_LIMIT_MS
  const started = performance.now()
  let opened: OpenContext | undefined
  let status: Pick<CaseResult, "status" | "reason" | "failure">
  const failed = (error: unknown): typeof status => ({
    status: "failed",
    failure: failureOf(one, subject.name, error, opened?.traces() ?? []),
  })
  try {
    opened = await withTimeout(limit, () => openContext(subject, { ...defaultSizes, ...options.sizes }))
    const { context } = opened
    const reason = reasonToSkip(one, context.capabilities, subject)
    if (reason === undefined) await withTimeout(limit, () => one.run(context))
    status = reason === undefined ? { status: "passed" } : { status: "skipped", reason }
  } catch (error) {
    status = error instanceof Skipped ? { status: "skipped", reason: error.message } : failed(error)
  }
  try {
    await withTimeout(limit, async () => opened?.end())
  } catch (error) {
    if (status.status !== "failed") status = failed(new Mismatch(CLEANUP, "success", showError(error)))
  }
  const [uncaught] = await uncaughtIn(options)
  if (uncaught !== undefined && status.status !== "failed") status = failed(uncaught)
  const { id, group, clause, title } = one
  const capabilities = opened?.context.capabilities
  const milliseconds = performance.now() - started
  return { id, group, clause, title, ...status, milliseconds, ...(capabilities !== undefined && { capabilities }) }
}

async function uncaughtIn({ uncaughtErrors }: RunOptions): Promise<readonly Mismatch[]> {
  if (uncaughtErrors === undefined) return []
  // A runtime reports an unhandled rejection only after the promises of the current tick have settled.
  await new Promise((resolve) => setTimeout(resolve, 0))
  const what = "uncaught errors, during the case or before it"
  return uncaughtErrors().map((error) => new Mismatch(what, "none: a failure rejects a call", showError(error)))
}

interface Runtimes {
  readonly Deno?: { readonly version: { readonly deno: string } }
  readonly Bun?: { readonly version: string }
  readonly process?: { readonly versions?: { readonly node?: string } }
  readonly navigator?: { readonly userAgent?: string }
}

/** The runtime with its version, e.g. `node 26.10.0`; in a page the browser's user agent. */
function runtimeName(): string {
  // Bun and Deno have a `process` too, so Node is checked last of the three.
  const { Deno, Bun, process, navigator } = globalThis as Runtimes
  if (Deno !== undefined) return `deno ${Deno.version.deno}`
  if (Bun !== undefined) return `bun ${Bun.version}`
  if (process?.versions?.node !== undefined) return `node ${process.versions.node}`
  return navigator?.userAgent ?? "unknown"
}
