/**
 * Properties of a storage, tried with random input: against the memory reference, one command after the other, and with several
 * writers at once. Needs `fast-check` and `@sessions/memory` beside this package.
 */
import * as fc from "fast-check"
import { came } from "../runner/result.ts"
import { Mismatch } from "../helpers/assert.ts"
import type { TestFunction } from "../runner/register.ts"
import type { Subject } from "../subject.ts"
import { interleaved } from "./interleaved.ts"
import { sequential } from "./sequential.ts"

export type PropertyName = "sequential" | "interleaved"

export interface PropertyOptions {
  /** Default: one of the clock's. The same seed tries the same things; a failure says it. */
  readonly seed?: number
  /** Where in the run of a seed to start, from a failure's text: tries that one input only. */
  readonly path?: string
  /** How many inputs are tried. Default 100. */
  readonly runs?: number
  /** The most commands of one input of the sequential property. Default 40. */
  readonly commands?: number
  /** Milliseconds for one input. Default 10,000. */
  readonly timeLimit?: number
}

/**
 * Rejects with an error whose message says the shortest input that was found to fail, what was expected, what came, and the seed
 * and path that try it again.
 */
export async function checkProperty<L>(
  name: PropertyName,
  subject: Subject<L>,
  options: PropertyOptions = {},
): Promise<void> {
  const { commands = 40, timeLimit = 10_000 } = options
  if (name === "sequential") await hold(name, subject, sequential(subject, { commands, timeLimit }), options)
  else await hold(name, subject, interleaved(subject, { timeLimit }), options)
}

/** Gives both properties to a test runner, under a title with the seed. */
export function registerProperties<L>(test: TestFunction, subject: Subject<L>, options: PropertyOptions = {}): void {
  const seed = options.seed ?? Date.now() % 2 ** 31
  for (const name of ["sequential", "interleaved"] as const) {
    test(`${subject.name} property ${name}, seed ${seed}`, () => checkProperty(name, subject, { ...options, seed }))
  }
}

class PropertyError extends Error {
  override readonly name = "PropertyError"
}

async function hold<L, T>(
  name: PropertyName,
  subject: Subject<L>,
  property: fc.IAsyncProperty<T>,
  { seed = Date.now() % 2 ** 31, runs = 100, path }: PropertyOptions,
): Promise<void> {
  const details = await fc.check(property, { seed, numRuns: runs, ...(path !== undefined && { path }) })
  if (details.failed) throw new PropertyError(inWords(name, subject.name, details), { cause: details.errorInstance })
}

function inWords<T>(name: PropertyName, subject: string, details: fc.RunDetails<T>): string {
  const { errorInstance: error } = details
  const lines = [`${name} property ${subject}: fails after ${details.numRuns} inputs and ${details.numShrinks} shrinks`]
  if (error instanceof Mismatch) {
    lines.push(`  what      ${error.what}`, `  expected  ${error.expected}`, `  came      ${error.came}`)
  } else lines.push(`  came      ${came(error)}`)
  lines.push(
    `  input     ${fc.stringify(details.counterexample)}`,
    `  again     { seed: ${details.seed}, path: ${JSON.stringify(details.counterexamplePath)} }`,
  )
  return lines.join("\n")
}
