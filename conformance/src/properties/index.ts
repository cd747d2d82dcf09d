/**
 * Two properties of a storage, checked with random input. `sequential`: every command has the same result as on the memory storage.
 * `interleaved`: concurrent writers lose and repeat nothing. Requires `fast-check` and `@sessions/memory`.
 */
import * as fc from "fast-check"
import { showError } from "../helpers/show.ts"
import { Mismatch } from "../helpers/assert.ts"
import { TIME_LIMIT_MS } from "../helpers/timeout.ts"
import type { TestFunction } from "../runner/register.ts"
import type { Subject } from "../subject.ts"
import { interleaved } from "./interleaved.ts"
import { sequential } from "./sequential.ts"

export type PropertyName = "sequential" | "interleaved"

export interface PropertyOptions {
  /** Default: from the clock. The same seed generates the same inputs; a failure message contains it. */
  readonly seed?: number
  /** The path from a failure message. With its seed, checks that one input only. */
  readonly path?: string
  /** Number of inputs. Default 100. */
  readonly runs?: number
  /** Largest number of commands in one input of the sequential property. Default 40. */
  readonly commands?: number
  /** Milliseconds for one input. Default 120,000. */
  readonly timeLimit?: number
}

/**
 * Rejects if the property fails. The error message has the shortest failing input, the expected and the actual result, and the seed
 * and path that repeat the input.
 */
export async function checkProperty<L>(
  name: PropertyName,
  subject: Subject<L>,
  options: PropertyOptions = {},
): Promise<void> {
  const { commands = 40, timeLimit = TIME_LIMIT_MS } = options
  if (name === "sequential") await checkInputs(name, subject, sequential(subject, { commands, timeLimit }), options)
  else await checkInputs(name, subject, interleaved(subject, { timeLimit }), options)
}

/** Registers both properties with a test runner, with the seed in their titles. */
export function registerProperties<L>(test: TestFunction, subject: Subject<L>, options: PropertyOptions = {}): void {
  const seed = options.seed ?? Date.now() % 2 ** 31
  for (const name of ["sequential", "interleaved"] as const) {
    test(`${subject.name} property ${name}, seed ${seed}`, () => checkProperty(name, subject, { ...options, seed }))
  }
}

class PropertyError extends Error {
  override readonly name = "PropertyError"
}

async function checkInputs<L, T>(
  name: PropertyName,
  subject: Subject<L>,
  property: fc.IAsyncProperty<T>,
  { seed = Date.now() % 2 ** 31, runs = 100, path }: PropertyOptions,
): Promise<void> {
  const details = await fc.check(property, { seed, numRuns: runs, ...(path !== undefined && { path }) })
  if (details.failed) throw new PropertyError(messageOf(name, subject.name, details), { cause: details.errorInstance })
}

function messageOf<T>(name: PropertyName, subject: string, details: fc.RunDetails<T>): string {
  const { errorInstance: error } = details
  const lines = [`${name} property ${subject}: fails after ${details.numRuns} inputs and ${details.numShrinks} shrinks`]
  if (error instanceof Mismatch) {
    lines.push(`  what      ${error.what}`, `  expected  ${error.expected}`, `  actual    ${error.actual}`)
  } else lines.push(`  actual    ${showError(error)}`)
  lines.push(
    `  input     ${fc.stringify(details.counterexample)}`,
    `  again     { seed: ${details.seed}, path: ${JSON.stringify(details.counterexamplePath)} }`,
  )
  return lines.join("\n")
}
