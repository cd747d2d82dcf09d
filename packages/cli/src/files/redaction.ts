/** Reads the rules of `--redact`: a file with one regular expression on each line. */
import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import { UsageError } from "../errors.ts"
import { withFileError } from "./read-write.ts"

const REPLACEMENT = "[redacted]"

/** Returns a function that replaces every match of every rule. */
export async function readRedaction(file: string, cwd: string): Promise<(text: string) => string> {
  const text = await withFileError(file, "read", () => readFile(resolve(cwd, file), "utf8"))
  if (text.includes("\0")) throw new UsageError(`${file} is no text in UTF-8; save it as UTF-8.`)
  const rules = text.split(/\r?\n/).flatMap((line, index) => {
    const rule = line.trim()
    return rule === "" || rule.startsWith("#") ? [] : [ruleOf(rule, `line ${index + 1} of ${file}`)]
  })
  // A file without rules is a mistake, and its page would be shared with everything in it.
  if (rules.length === 0) throw new UsageError(`${file} has no rules: write one regular expression on each line.`)
  return (value) => {
    let shown = value
    for (const rule of rules) shown = shown.replace(rule, () => REPLACEMENT)
    return shown
  }
}

/** `PATTERN`, or `/PATTERN/FLAGS` with the flags i, m, s and u. A flag g says what is done anyway. */
function ruleOf(rule: string, place: string): RegExp {
  const [, pattern = rule, given = ""] = /^\/(.+)\/([dgimsuvy]*)$/is.exec(rule) ?? []
  const flags = given.replace("g", "")
  // As a pattern with two slashes it would match nothing, and what it was to hide would be in the page.
  if (!/^[imsu]*$/.test(flags))
    throw new UsageError(`${place} has the flags ${given}: use i, m, s and u. To match the slashes, write them as \\/.`)
  let found: RegExp
  try {
    found = new RegExp(pattern, `${flags}g`)
  } catch (error) {
    throw new UsageError(`${place} is no regular expression: ${(error as Error).message}.`)
  }
  if (new RegExp(pattern, flags).test("")) throw new UsageError(`${place} matches the empty text; make it match more.`)
  return found
}
