import { readFileSync } from "node:fs"
import { defineConfig } from "tsup"

interface Manifest {
  exports: Record<string, { source: string }>
  bin?: Record<string, string>
}

/** The build of every package. tsup runs in the package's folder: its entries are what its manifest exposes. */
export default defineConfig({
  entry: entries(JSON.parse(readFileSync("package.json", "utf8")) as Manifest),
  tsconfig: "tsconfig.src.json",
  format: "esm",
  target: "es2022",
  platform: "neutral",
  external: [/^node:/],
  splitting: true,
  sourcemap: true,
  // Chunks carry a hash in their name; declarations are left to tsc.
  clean: ["!**/*.d.ts"],
  silent: true,
  // tsc emits the declarations.
  dts: false,
  // Deno and bundlers tell built-in modules by the prefix.
  removeNodeProtocol: false,
})

function entries(manifest: Manifest): string[] {
  const commands = Object.values(manifest.bin ?? {}).map((file) =>
    file.replace("./dist/", "./src/").replace(/js$/, "ts"),
  )
  return [...Object.values(manifest.exports).map(({ source }) => source), ...commands]
}
