/** Checks the options of a call: a name that no option has is an error, so that a misspelt option is not ignored in silence. Pure. */
import { StorageError } from "./errors.ts"

/** An object whose keys are the names of all options of `O`, each of which the compiler requires. The values do not matter. */
export type OptionNames<O> = { readonly [Name in keyof O]-?: unknown }

/**
 * Throws `invalid` if `options` is not an object, or has an own enumerable key that is not in `names` and whose value is not undefined.
 * The message has the nearest name. `call` is the name of the function.
 */
export function checkOptions<O extends object>(call: string, options: O, names: OptionNames<O>): void {
  const problem = optionsProblem(call, options, names)
  if (problem !== undefined) throw new StorageError("invalid", problem)
}

/** The message of {@link checkOptions}. `within`: the option that holds these options, and a dot. */
export function optionsProblem(call: string, options: unknown, names: object, within = ""): string | undefined {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    const what = within === "" ? call : `\`${within.slice(0, -1)}\` of ${call}`
    return `${what} takes an object with the options ${Object.keys(names).join(", ")}, not ${shown(options)}.`
  }
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(names, name) || (options as Readonly<Record<string, unknown>>)[name] === undefined) continue
    return `${call} has no option ${shown(within + name)}. ${didYouMean(name, Object.keys(names), "Its options", within)}`
  }
  return undefined
}

/** The right name for a wrong one, or all right ones if none is near. `what` they are called; `within` is set before the right one. */
export function didYouMean(wrong: string, names: readonly string[], what: string, within = ""): string {
  const nearest = nearestName(wrong, names)
  return nearest === undefined ? `${what} are ${names.join(", ")}.` : `Did you mean "${within}${nearest}"?`
}

/** The name with the smallest edit distance, if at most half of the letters differ. */
export function nearestName(wrong: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined
  let least = wrong.length / 2
  // A longer name than any that is near need not be compared, however long it is.
  if (wrong.length > 64) return undefined
  for (const name of names) {
    const distance = editDistance(wrong.toLowerCase(), name.toLowerCase())
    if (distance > least || (distance === least && nearest !== undefined)) continue
    nearest = name
    least = distance
  }
  return nearest
}

/** A value for an error message: short, and without calling anything of the value's. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
  if (Array.isArray(value)) return "an array"
  if (typeof value === "function" || (typeof value === "object" && value !== null))
    return `a value of type ${typeof value}`
  return String(value)
}

/** Levenshtein distance: insertions, deletions and replacements of letters. */
function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = (above[column - 1] as number) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (above[column] as number) + 1, (current[column - 1] as number) + 1))
    }
    above = current
  }
  return above[b.length] as number
}
