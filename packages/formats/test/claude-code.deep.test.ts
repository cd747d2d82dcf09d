import { sidechainsTest } from "./sidechains.ts"

// A search in every sidechain takes more than two minutes.
sidechainsTest(60_000, 20_000)
