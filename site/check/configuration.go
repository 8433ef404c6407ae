package main

import (
	configv1 "sigs.k8s.io/lws/apis/config/v1"
)

// loadConfiguration reads a managers' configuration as a manager does.
func loadConfiguration(text []byte) error {
	config, err := configv1.Decode(text)
	if err != nil {
		return err
	}
	configv1.SetDefaults(config, configv1.LWSManagerNames())
	return configv1.Validate(config).ToAggregate()
}
