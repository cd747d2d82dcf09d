// For `node --import`: lets Node run TypeScript sources. Since Node 22.18 type stripping is built in.
import { register } from "node:module"

if (!process.features.typescript) register("./lib/strip-types.mjs", import.meta.url)
