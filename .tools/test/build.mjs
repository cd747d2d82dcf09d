import { runScript } from "../lib/run.mjs"
import { manifest } from "../lib/workspace.mjs"

let building

/** Builds the packages, once in a run however many steps need them. */
export function build() {
  building ??= runScript(manifest.scripts.build)
  return building
}
