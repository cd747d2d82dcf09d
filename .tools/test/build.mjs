import { runScript } from "../lib/run.mjs"
import { manifest } from "../lib/workspace.mjs"

let building

/** Builds the packages once in a test run. */
export function build() {
  building ??= runScript(manifest.scripts.build)
  return building
}
