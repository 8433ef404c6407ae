// Command check looks at the documentation as a reader would.
//
//	check links PUBLIC CONTENT         every link of the built site leads somewhere, and nothing comes from elsewhere
//	check blocks CONTENT               every YAML block is accepted by the cluster of $KUBECONFIG
//	check walkthroughs ROOT CONTENT…   every command of a walkthrough works and prints what is shown
//	check browser PUBLIC SHOTS         every page opens in a browser without an error, search finds, screenshots in the directory SHOTS
//
// Vocabulary:
//
//   - block: fenced text of a page, with its language and attributes.
//   - shown output: a block of language output. It belongs to the command block before
//     it, and … in it stands for text that differs from run to run.
//   - finding: something that is wrong, with where it is.
package main
