/** Sessions of pi, version 3: `sessions/<folder>/<time>_<id>.jsonl` in `~/.pi/agent`. Only written: core reads them, since they also open in place. */
import type { Writer } from "../base/format.ts"
import { wellFormedWriter } from "../base/well-formed.ts"
import { write } from "./write.ts"

export { piPathOf } from "./place.ts"

export const pi: Writer = { format: "pi", title: "pi", versions: "1 to 3", write: wellFormedWriter("pi", write) }
