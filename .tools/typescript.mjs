// For `node --import`: lets Node run the sources as they are. Newer Nodes strip types by themselves.
import { register } from "node:module"

if (!process.features.typescript) register("./lib/strip-types.mjs", import.meta.url)
