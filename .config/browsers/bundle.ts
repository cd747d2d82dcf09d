import { dirname } from "node:path"
import { build } from "esbuild"

interface BundleOptions {
  readonly minify?: boolean
  /** Conditions of the packages' `exports`. The default resolves to the sources, an empty list to the build. */
  readonly conditions?: readonly string[]
}

/** Bundles a script for a page or worker. */
export async function bundle(entry: string, o: BundleOptions = {}): Promise<string> {
  const { minify = false, conditions = ["@sessions/source"] } = o
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
