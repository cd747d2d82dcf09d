/**
 * Checks of JSON values, composed of small functions as in a schema library. A check returns undefined for a valid value, without
 * allocating. For an invalid value it returns the end of an error message, which starts with the path from the value to the wrong field:
 * ` must be a string.`, `text must be a string.`, `[2].text must be a string.`
 *
 * The functions have no side effects, which bundlers are told: a page that checks no entries loads no tables of checks.
 */
export type Check = (value: unknown) => string | undefined

export type Fields = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export const isString: Check = (value) => (typeof value === "string" ? undefined : " must be a string.")
export const isBoolean: Check = (value) => (typeof value === "boolean" ? undefined : " must be true or false.")
export const isNumber: Check = (value) => (Number.isFinite(value) ? undefined : " must be a number.")
export const isCount: Check = wholeFrom(0)
export const isPresent: Check = (value) => (value === undefined ? " must be there." : undefined)
export const isNonEmpty: Check = (value) =>
  typeof value === "string" && value !== "" ? undefined : " must be a string that is not empty."

export const isFunction: Check = (value) => (typeof value === "function" ? undefined : " must be a function.")
export const isAboveZero: Check = (value) =>
  typeof value === "number" && value > 0 ? undefined : " must be a number above 0."
/** For a value that is checked elsewhere, or may be any. */
export const isAnything: Check = () => undefined

/** A number, perhaps infinite. */
/* @__NO_SIDE_EFFECTS__ */
export function numberFrom(least: number): Check {
  return (value) => (typeof value === "number" && value >= least ? undefined : ` must be a number from ${least}.`)
}

/* @__NO_SIDE_EFFECTS__ */
export function wholeFrom(least: number, most: number = Number.MAX_SAFE_INTEGER): Check {
  const wrong = ` must be a whole number from ${least}${most === Number.MAX_SAFE_INTEGER ? "" : ` to ${most}`}.`
  return (value) =>
    Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most ? undefined : wrong
}

/** An object with these fields; other fields pass. */
/* @__NO_SIDE_EFFECTS__ */
export function shape(fields: Readonly<Record<string, Check>>): Check {
  const keys = Object.keys(fields)
  const checks = Object.values(fields)
  return (value) => {
    if (!isObject(value)) return " must be an object."
    for (let i = 0; i < keys.length; i++) {
      const problem = checks[i]?.(value[keys[i] as string])
      if (problem !== undefined) return below(keys[i] as string, problem)
    }
    return undefined
  }
}

/** An object that may have these fields, and others. */
/* @__NO_SIDE_EFFECTS__ */
export function optionalFields(fields: Readonly<Record<string, Check>>): Check {
  return shape(Object.fromEntries(Object.entries(fields).map(([key, check]) => [key, optional(check)])))
}

/** The field may be missing. `undefined` counts as missing, because JSON does not write it. */
/* @__NO_SIDE_EFFECTS__ */
export function optional(check: Check): Check {
  return (value) => (value === undefined ? undefined : check(value))
}

/* @__NO_SIDE_EFFECTS__ */
export function nullable(check: Check): Check {
  return (value) => (value === null ? undefined : check(value)?.replace(" must be ", " must be null or "))
}

/* @__NO_SIDE_EFFECTS__ */
export function arrayOf(check: Check, what = "an array"): Check {
  const wrong = ` must be ${what}.`
  return (value) => {
    if (!Array.isArray(value)) return wrong
    for (let i = 0; i < value.length; i++) {
      const problem = check(value[i])
      if (problem !== undefined) return below(`[${i}]`, problem)
    }
    return undefined
  }
}

/** An object used as a map: any keys, values of one shape. */
/* @__NO_SIDE_EFFECTS__ */
export function mapOf(check: Check): Check {
  return (value) => {
    if (!isObject(value)) return " must be an object."
    for (const key of Object.keys(value)) {
      const problem = check(value[key])
      if (problem !== undefined) return below(`[${JSON.stringify(key)}]`, problem)
    }
    return undefined
  }
}

/* @__NO_SIDE_EFFECTS__ */
export function oneOf(...values: readonly (string | number)[]): Check {
  const wrong = ` must be ${values.map((value) => JSON.stringify(value)).join(" or ")}.`
  return (value) => (values.includes(value as string) ? undefined : wrong)
}

/** All checks, in order. */
/* @__NO_SIDE_EFFECTS__ */
export function all(...checks: readonly Check[]): Check {
  return (value) => {
    for (const check of checks) {
      const problem = check(value)
      if (problem !== undefined) return problem
    }
    return undefined
  }
}

/** The problem as a complete sentence: a problem of the value itself, not of a field, gets `what` as its subject. */
export function sentence(what: string, problem: string | undefined): string | undefined {
  return problem?.startsWith(" ") === true ? what + problem : problem
}

/** Prepends the key of the surrounding object or array to the problem's path. */
function below(key: string, problem: string): string {
  return problem.startsWith(" ") || problem.startsWith("[") ? key + problem : `${key}.${problem}`
}

/* @__NO_SIDE_EFFECTS__ */
export function checksByName<Name extends string>(checks: Readonly<Record<Name, Check>>): ReadonlyMap<string, Check> {
  return new Map(Object.entries<Check>(checks))
}
