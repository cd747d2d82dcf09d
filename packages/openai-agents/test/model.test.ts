import { modelTest } from "./model.ts"
import { STORAGES } from "./open-storages.ts"

for (const name of STORAGES) modelTest(name)
