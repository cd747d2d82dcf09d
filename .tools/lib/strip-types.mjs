// A module hook that strips types, for Nodes older than 22.18.
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { transform } from "esbuild"

export async function load(url, context, next) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return next(url, context)
  const { code } = await transform(await readFile(fileURLToPath(url), "utf8"), {
    loader: "ts",
    format: "esm",
    target: `node${process.versions.node}`,
    sourcemap: "inline",
    sourcefile: url,
  })
  return { format: "module", source: code, shortCircuit: true }
}
