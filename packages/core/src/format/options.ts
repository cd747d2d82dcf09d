/**
 * Checks the options of a call by a table: the name of each option with the check of its value. A misspelt option and a value of a wrong
 * type are errors, so that neither is ignored in silence. Pure.
 */
import { optionsProblem, shown } from "../storage/options.ts"
import { SessionError, type SessionErrorDetails } from "./errors.ts"
import type { Check, Fields } from "./shape.ts"

/** The checks of options by name. A table in place of a check: the option is an object with these options. */
export interface OptionTable {
  readonly [name: string]: Check | OptionTable
}

/** The table of the options `O`, of which the compiler requires each. */
export type OptionChecks<O> = { readonly [Name in keyof O]-?: Check | OptionTable }

/** Throws `invalid` for an option without a name in the table, and for a wrong value; `undefined` is no value. `within`: the option that holds these, and a dot. */
export function checkCallOptions(
  call: string,
  options: object,
  table: OptionTable,
  about: SessionErrorDetails = {},
  within = "",
): void {
  const problem = optionsProblem(call, options, table, within)
  if (problem !== undefined) throw new SessionError("invalid", problem, about)
  for (const name in table) {
    const value = (options as Fields)[name]
    const check = table[name] as Check | OptionTable
    if (value === undefined) continue
    const path = within + name
    if (typeof check === "object") checkCallOptions(call, value as object, check, about, `${path}.`)
    else {
      const problem = check(value)
      if (problem !== undefined) throw new SessionError("invalid", sentenceOf(path, problem, value), about)
    }
  }
}

/** The problem may begin with the path to a value within the option's. */
function sentenceOf(path: string, problem: string, value: unknown): string {
  const at = problem.indexOf(" must ")
  return `\`${path}${problem.slice(0, at)}\`${problem.slice(at, -1)}${at === 0 ? `, not ${shown(value)}` : ""}.`
}
