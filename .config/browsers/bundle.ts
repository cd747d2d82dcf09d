import { dirname } from "node:path"
import { build } from "esbuild"

interface BundleOptions {
  readonly minify?: boolean
  /** Of the packages' `exports`; by default those that lead to the sources, with none to what is built. */
  readonly conditions?: readonly string[]
}

/** A script for a page or worker, with all that it imports. */
export async function bundle(entry: string, o: BundleOptions = {}): Promise<string> {
  const { minify = false, conditions = ["source"] } = o
  const { outputFiles } = await build({
    entryPoints: [entry],
    absWorkingDir: dirname(entry),
    bundle: true,
    minify,
    format: "iife",
    target: "es2022",
    conditions: [...conditions],
    write: false,
    logLevel: "silent",
  })
  return outputFiles.map(({ text }) => text).join("")
}
