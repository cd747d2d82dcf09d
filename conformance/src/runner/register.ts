/** Registers the cases with a test runner, one test per case. */
import type { Capabilities } from "@sessions/core/storage"
import { reasonToSkip, runCase, type RunOptions, selectCases } from "./run.ts"
import type { Subject } from "../subject.ts"

/** `test` of vitest, bun:test or node:test, `Deno.test`, or any other function that takes a name and a function. */
export type TestFunction = (name: string, fn: (...args: unknown[]) => Promise<void>) => unknown

export interface RegisterOptions extends RunOptions {
  /**
   * For runners whose tests cannot skip themselves while they run (Bun, Deno): the function that registers a skipped test, e.g.
   * `test.skip` or `Deno.test.ignore`, and the capabilities of the subject's storages.
   */
  readonly skip?: { readonly with: TestFunction; readonly capabilities: Capabilities }
}

/**
 * Registers every case as a test. A case that does not apply to the subject skips itself if the runner supports that (vitest,
 * node:test), is registered with `options.skip` if that is given, and passes otherwise. `options.onResult` is called for every case
 * that ran, also for one that skipped itself.
 */
export function register<L>(test: TestFunction, subject: Subject<L>, options: RegisterOptions = {}): void {
  for (const one of selectCases(options.only)) {
    const { skip } = options
    const skipped = skip !== undefined && reasonToSkip(one, skip.capabilities, subject) !== undefined
    const registerTest = skipped ? skip.with : test
    // A rest parameter, because Bun counts parameters and would take a named one for a `done` callback.
    registerTest(`${subject.name} ${one.id} ${one.title}`, async (...args) => {
      const result = await runCase(subject, one, options)
      options.onResult?.(result)
      if (result.status === "failed") throw new ConformanceError(result.failure?.message ?? one.title)
      if (result.status === "skipped") skipIn(args[0], result.reason)
    })
  }
}

/** The failure of a case. Its stack is the message alone, because the frames would only show the suite. */
class ConformanceError extends Error {
  constructor(message: string) {
    super(message)
    this.name = "ConformanceError"
    this.stack = `${this.name}: ${message}`
  }
}

function skipIn(context: unknown, reason: string | undefined): void {
  const skip = (context as { skip?: (reason?: string) => void } | undefined)?.skip
  if (typeof skip === "function") skip.call(context, reason)
}
