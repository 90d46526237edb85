import { defineConfig } from "vite";
import { stamped } from "./sources.js";

// One module with its style, which anywidget sends to notebooks.
export default defineConfig({
  plugins: [stamped()],
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    outDir: "../src/fullspan/people/notebook/static",
    emptyOutDir: true,
    cssTarget: ["chrome123", "firefox120", "safari17.5"],  // light-dark() as it is: it follows the notebook's theme
    rollupOptions: { output: { minify: true } },  // a library is left with its spaces otherwise
    lib: { entry: "src/widget.tsx", formats: ["es"], fileName: () => "widget.js" },
  },
});
