import { dirname } from "node:path"
import { build } from "esbuild"

/** A script for a page or worker, with all that it imports, from the sources. */
export async function bundle(entry: string, { minify = false } = {}): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    absWorkingDir: dirname(entry),
    bundle: true,
    minify,
    format: "iife",
    target: "es2022",
    conditions: ["source"],
    write: false,
    logLevel: "silent",
  })
  return outputFiles.map(({ text }) => text).join("")
}
