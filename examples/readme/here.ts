/**
 * Where the examples of the documents run: in this package, from the sources, or with `PACKED_PROJECT` in that folder, which has the packages
 * as npm gets them.
 */
import { fileURLToPath } from "node:url"

const packed = process.env["PACKED_PROJECT"]
const conditions = packed === undefined ? ["--conditions=source"] : []

export const HERE = packed ?? fileURLToPath(new URL(".", import.meta.url))

/** The options of the runtime of this test, with which it runs an example. */
export const FLAGS: readonly string[] =
  "Deno" in globalThis ? ["run", "-A", "--no-lock", "--cached-only", ...conditions] : conditions
