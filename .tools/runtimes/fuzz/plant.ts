/** For `node --import`: loads one source file with the fault that the environment variable `PLANTED` has as JSON. */
import * as module from "node:module"
import type { Fault } from "./faults.ts"

const planted = process.env["PLANTED"]
if (planted === undefined) throw new Error("PLANTED has no fault.")
const fault = JSON.parse(planted) as Fault
const url = new URL(`../../../${fault.file}`, import.meta.url).href

interface Loaded {
  readonly source: Uint8Array
}

interface Hooks {
  load(at: string, context: unknown, next: (at: string, context: unknown) => Loaded): object
}

// Newer than the types of the oldest Node.
const { registerHooks } = module as unknown as { readonly registerHooks: (hooks: Hooks) => void }

registerHooks({
  load(at, context, next) {
    const loaded = next(at, context)
    if (at !== url) return loaded
    let source = Buffer.from(loaded.source).toString("utf8")
    for (const [text, replacement] of fault.edits) {
      if (source.split(text).length !== 2)
        throw new Error(`${fault.file} has no longer one "${text}": change faults.ts.`)
      source = source.replace(text, () => replacement)
    }
    return { ...loaded, source }
  },
})
