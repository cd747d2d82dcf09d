/** Builds the JavaScript of a published package, in whose folder tsup runs. tsc emits the declarations. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defineConfig, type Options } from "tsup"

interface Manifest {
  readonly exports: Readonly<Record<string, { readonly "@sessions/source": string }>>
  readonly bin?: Readonly<Record<string, string>>
}

export default defineConfig((): Options => {
  const { exports, bin = {} } = JSON.parse(readFileSync("package.json", "utf8")) as Manifest
  const sources = [
    ...Object.values(exports).map((entry) => entry["@sessions/source"]),
    ...Object.values(bin).map(sourceOf),
  ]
  return {
    entry: Object.fromEntries(sources.map((source) => [source.slice("./src/".length, -".ts".length), source])),
    format: "esm",
    target: "es2022",
    // Most packages run in browsers, Node, Bun and Deno alike.
    platform: "neutral",
    splitting: true,
    // A map has the sources in it and would be more than half of a package.
    sourcemap: false,
    // Deno resolves Node's modules by the prefix only.
    removeNodeProtocol: false,
    skipNodeModulesBundle: true,
    // A field without a value is left to the constructor: defining it first is code on pages and work for each object.
    tsconfig: fileURLToPath(new URL("../tsconfig.base.json", import.meta.url)),
    // Keeps what tsc has emitted.
    clean: ["!**/*.d.ts"],
    silent: true,
    esbuildOptions(options) {
      // The name is that of the module in an import(), or "chunk" for code shared by several entries.
      options.chunkNames = "chunks/[name]-[hash]"
    },
  }
})

/** A command is built from the source file of the same name. */
function sourceOf(file: string): string {
  return file.replace("./dist/", "./src/").replace(/js$/, "ts")
}
