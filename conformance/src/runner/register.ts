import type { Capabilities } from "@sessions/core/storage"
import type { RunOptions } from "./run.ts"
import { reasonToSkip, runCase, selectCases } from "./run.ts"
import type { Subject } from "../subject.ts"

/** `test` of vitest, bun:test, node:test, `Deno.test`, or any other function that takes a name and what to do. */
export type TestFunction = (name: string, fn: (...args: unknown[]) => Promise<void>) => unknown

export interface RegisterOptions extends RunOptions {
  /**
   * For runners whose tests cannot skip themselves from inside (Bun, Deno): how they are told beforehand, e.g. `test.skip` or
   * `Deno.test.ignore`, and what the subject's storages can do.
   */
  readonly skip?: { readonly with: TestFunction; readonly capabilities: Capabilities }
}

/**
 * Gives every case to a test runner. A case that the subject's capabilities do not ask for skips itself where the runner lets a
 * test do that (vitest, node:test), is handed to `options.skip` where that is given, and else passes; `options.onResult` hears of
 * every case that ran, with the reason of one that was skipped.
 */
export function register<L>(test: TestFunction, subject: Subject<L>, options: RegisterOptions = {}): void {
  for (const one of selectCases(options.only)) {
    const { skip } = options
    const skipped = skip !== undefined && reasonToSkip(one, skip.capabilities, subject) !== undefined
    // Rest arguments: a runner that counts parameters (Bun) would take one for a `done` to be called.
    const given = skipped ? skip.with : test
    given(`${subject.name} ${one.id} ${one.title}`, async (...args) => {
      const result = await runCase(subject, one, options)
      options.onResult?.(result)
      if (result.status === "failed") throw new ConformanceError(result.failure?.message ?? one.title)
      if (result.status === "skipped") skipIn(args[0], result.reason)
    })
  }
}

/** A case that failed, as a test runner shows it: the message says it all, the stack would only show the suite. */
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
