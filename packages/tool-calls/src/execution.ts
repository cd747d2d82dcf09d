/** The values that a tool of an SDK gets of its execution, beside the arguments that the SDK gives it. */
import { notWrappedError } from "./errors.ts"
import type { Execution } from "./types.ts"

/** Copies of an object with other fields keep it. */
const EXECUTION: unique symbol = Symbol.for("@sessions/tool-calls:execution")

/** A copy of the options that an SDK gives to a tool, of which {@link executionOf} has the execution. */
export function withExecution<Options extends object>(options: Options, execution: Execution): Options {
  return Object.create(Object.getPrototypeOf(options) as object | null, {
    ...Object.getOwnPropertyDescriptors(options),
    [EXECUTION]: { value: execution, enumerable: true, configurable: true },
  }) as Options
}

/**
 * The key and the attempt of a call, from the last argument of its tool's function. `invalid` if the tool was not wrapped: it must not fall back to
 * a key of its own.
 *
 * ```ts
 * import { executionOf } from "@sessions/tool-calls"
 *
 * async function charge({ amount }: { amount: number }, options: object): Promise<string> {
 *   const { key } = executionOf(options)
 *   return `charged ${amount} under ${key}`
 * }
 * ```
 */
export function executionOf(options: object): Execution {
  const execution = (options as { readonly [EXECUTION]?: Execution })[EXECUTION]
  if (execution !== undefined) return execution
  throw notWrappedError()
}
