import { defaultClientConditions, defineConfig } from "vite"

export default defineConfig({
  // Works in any folder of any server.
  base: "./",
  // The packages of this repository from their sources; a page of its own needs no such line.
  resolve: { conditions: ["source", ...defaultClientConditions] },
})
