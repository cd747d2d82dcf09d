import { run } from "../lib/run.mjs"

let building

/** Builds the packages once in a test run, unless the last build was of the same sources. */
export function build() {
  building ??= run(process.execPath, [".tools/build.mjs", "--if-stale"])
  return building
}
