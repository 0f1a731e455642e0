package server

import (
	"context"
	"encoding/json"
	"net/http"
)

// Ask reads the JSON that a process of a test answers with at an address.
func Ask[T any](ctx context.Context, client *http.Client, address string) (answer T, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address, nil)
	if err != nil {
		return answer, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return answer, err
	}
	defer resp.Body.Close()
	return answer, json.NewDecoder(resp.Body).Decode(&answer)
}
