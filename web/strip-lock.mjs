// Take out of package-lock.json what names a host: where packages were fetched from, and who collects donations.
import { readFileSync, writeFileSync } from "node:fs";

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
for (const entry of Object.values(lock.packages)) {
  delete entry.resolved;
  delete entry.funding;
}
writeFileSync("package-lock.json", JSON.stringify(lock, null, 2) + "\n");
