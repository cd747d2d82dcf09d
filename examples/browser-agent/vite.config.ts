import { createHash } from "node:crypto"
import { defaultClientConditions, defineConfig, type Plugin } from "vite"

const WORKER = "service-worker"

export default defineConfig({
  // Works in any folder of any server.
  base: "./",
  // The packages of this repository from their sources; a page of its own needs no such line.
  resolve: { conditions: ["@sessions/source", ...defaultClientConditions] },
  build: {
    rollupOptions: {
      input: { index: "index.html", [WORKER]: `src/${WORKER}.ts` },
      output: { entryFileNames: ({ name }) => (name === WORKER ? "[name].js" : "assets/[name]-[hash].js") },
    },
  },
  plugins: [listFiles()],
})

/** Tells the service worker the names of all files of the build, and a name for the build that changes with any of them. */
function listFiles(): Plugin {
  return {
    name: "list-files",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const files = Object.values(bundle).filter(({ fileName }) => !/\.html$|^service-worker\.js$/.test(fileName))
        const hash = createHash("sha256")
        for (const file of Object.values(bundle)) hash.update(file.type === "chunk" ? file.code : file.source)
        const worker = bundle[`${WORKER}.js`]
        if (worker?.type !== "chunk") throw new Error("The build has no service worker.")
        const names = JSON.stringify(files.map(({ fileName }) => `./${fileName}`))
        worker.code = worker.code
          .replace("PAGE_FILES", () => names)
          .replace("PAGE_BUILD", () => JSON.stringify(hash.digest("hex").slice(0, 16)))
      },
    },
  }
}
