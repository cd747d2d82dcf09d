import type { RunOptions } from "./run.ts"
import { runCase, selectCases } from "./run.ts"
import type { Subject } from "./subject.ts"

/** `test` of vitest, bun:test, node:test, `Deno.test`, or any other function that takes a name and what to do. */
export type TestFunction = (name: string, fn: (...args: unknown[]) => Promise<void>) => unknown

/**
 * Gives every case to a test runner. A case that the subject's capabilities do not ask for is marked as skipped where the runner
 * can do that from inside a test (vitest, node:test), and passes elsewhere; `options.onResult` hears of it with its reason.
 */
export function register<L>(test: TestFunction, subject: Subject<L>, options: RunOptions = {}): void {
  for (const one of selectCases(options.only)) {
    // Rest arguments: a runner that counts parameters (Bun) would take one for a `done` to be called.
    test(`${subject.name} ${one.id} ${one.title}`, async (...args) => {
      const result = await runCase(subject, one, options)
      options.onResult?.(result)
      if (result.status === "failed") throw new ConformanceError(result.failure?.message ?? one.title)
      if (result.status === "skipped") skipIn(args[0], result.reason)
    })
  }
}

/** A case that failed, as a test runner shows it: the message says it all, the stack would only show the suite. */
export class ConformanceError extends Error {
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
